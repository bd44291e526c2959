/* With every function for host and device (`Request.together`), one that launches a kernel has an error in the device's
   pass where others may call it from elsewhere: so nobody may. */
#pragma clang attribute push(__attribute__((internal_linkage)), apply_to = function)
