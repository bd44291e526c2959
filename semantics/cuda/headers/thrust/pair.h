namespace thrust { using ::std::make_pair; using ::std::pair; }
