#include "../warpbound_complex.h"
namespace thrust {
using ::__w_complex::complex; using ::__w_complex::norm; using ::__w_complex::abs; using ::__w_complex::arg;
using ::__w_complex::conj; using ::__w_complex::polar; using ::__w_complex::exp;
}
