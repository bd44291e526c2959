#pragma once
namespace thrust { using ::std::swap; }
