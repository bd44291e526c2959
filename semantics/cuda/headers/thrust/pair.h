namespace thrust { using ::__w_thrust::make_pair; using ::__w_thrust::pair; }
