#include "../warpbound_thrust.h"
#include <thrust/pair.h>
#include <thrust/tuple.h>
