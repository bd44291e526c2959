#include "../warpbound_thrust.h"
