namespace thrust { using ::__w_thrust::get; using ::__w_thrust::make_tuple; using ::__w_thrust::tie; using ::__w_thrust::tuple; }
