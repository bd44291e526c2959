#include <warpbound_torch.h>
