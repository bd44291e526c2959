#pragma once
namespace thrust { using ::__w_thrust::swap; }
