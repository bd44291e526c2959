#pragma once
#pragma push_macro("__w_complex")
#define __w_complex __w_complex_of_thrust
#include "../warpbound_complex.h"
namespace thrust {
using ::__w_complex::complex; using ::__w_complex::norm; using ::__w_complex::abs; using ::__w_complex::arg;
using ::__w_complex::conj; using ::__w_complex::polar; using ::__w_complex::exp;
}
#pragma pop_macro("__w_complex")
