"""Host code of many styles around a kernel: whatever clang makes of it, the kernel is read, and the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import pytest

from logic.syntax import show_stmt
from semantics.cuda import CudaError, Reading

Read = Callable[..., Reading]

KERNEL: Final = """__global__ void k(const float *a, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] * 2.f;
}
"""
EXPECTED: Final = "i <- blockIdx.x * blockDim.x + tid.x;\nif (i < n) {\n  c[i] <- a[i] * 2.f;\n}"

STYLES: Final[dict[str, tuple[str, str]]] = {
    "vector": (
        "#include <vector>\n#include <string>\n#include <iostream>\n",
        (
            "int main(int argc, char **argv) { std::vector<float> h(1000, 1.0f); std::string s = "
            "argv[0]; float *d; cudaMalloc(&d, h.size() * sizeof(float));\n"
            " cudaMemcpy(d, h.data(), 4000, cudaMemcpyHostToDevice); k<<<4, 256>>>(d, d, 1000); "
            "std::cout << s << std::endl; for (auto &x : h) x = 0; return 0; }"
        ),
    ),
    "helper": (
        "#include <helper_cuda.h>\n#include <helper_functions.h>\n#include <cuda_runtime.h>\n",
        (
            "int main(int argc, char **argv) { int dev = findCudaDevice(argc, (const char **)argv); "
            "StopWatchInterface *timer = NULL; sdkCreateTimer(&timer); float *d; "
            "checkCudaErrors(cudaMalloc((void **)&d, 4000)); k<<<4,256>>>(d,d,1000); "
            'getLastCudaError("k failed"); checkCudaErrors(cudaDeviceSynchronize()); '
            "sdkStopTimer(&timer); exit(EXIT_SUCCESS); }"
        ),
    ),
    "class_members": (
        "#include <vector>\n#include <memory>\n",
        (
            "class Solver { public: Solver(int n) : n_(n), data_(n) {} void run(); private: int n_; "
            "std::vector<float> data_; std::unique_ptr<float[]> p; };\n"
            "void Solver::run() { k<<<(n_ + 255) / 256, 256>>>(data_.data(), data_.data(), n_); }"
        ),
    ),
    "class_before": (
        (
            "#include <vector>\n"
            "#include <map>\n"
            "class Solver { public: std::vector<float> v; std::map<std::string, int> m; int n; void "
            "run(float *a, int n); };\n"
            "struct P { std::string name; int n; };\n"
        ),
        "void Solver::run(float *a, int n) { k<<<1, 256>>>(a, a, n); }",
    ),
    "proto": (
        (
            "#include <vector>\n"
            "void f(std::vector<int> &r, int n);\n"
            "void g(std::vector<int> a, const float *c, int i);\n"
            "std::vector<float> make(int n, float *a);\n"
        ),
        "",
    ),
    "template_host": (
        (
            "#include <vector>\n"
            "template <typename T> void launch(std::vector<T> &v, int n);\n"
            "template <typename T> class Buffer { T *p; std::vector<T> h; public: Buffer(size_t n) : "
            "h(n) { cudaMalloc(&p, n * sizeof(T)); } ~Buffer() { cudaFree(p); } T *get() { return p; } "
            "};\n"
        ),
        (
            "template <typename T> void launch(std::vector<T> &v, int n) { Buffer<T> b(n); "
            "k<<<(n+255)/256, 256>>>(b.get(), b.get(), n); }\n"
            "int main() { std::vector<float> v; launch<float>(v, 3); }"
        ),
    ),
    "lambda": (
        "#include <functional>\n#include <algorithm>\n",
        (
            "int main() { auto go = [&](int n) { k<<<4, 256>>>(nullptr, nullptr, n); }; "
            "std::function<void(int)> f = go; f(3); std::vector<int> v; std::sort(v.begin(), v.end(), "
            "[](int a, int b) { return a < b; }); }"
        ),
    ),
    "ns": (
        "#include <vector>\nnamespace a { namespace b {\n",
        (
            "void launch(std::vector<float> &x, cudaStream_t s) { k<<<dim3(4), dim3(256), 0, "
            "s>>>(x.data(), x.data(), x.size()); } } }"
        ),
    ),
    "externc": (
        'extern "C" {\n',
        "void launch(float *a, float *c, int n) { k<<<(n + 255) / 256, 256>>>(a, c, n); } }",
    ),
    "externc2": (
        (
            "#include <stdio.h>\n"
            'extern "C" int printf2(FILE *f, const char *, ...);\n'
            'extern "C" void run_it(FILE *f, int n);\n'
        ),
        'extern "C" void run_it(FILE *f, int n) { fprintf(stderr, "x"); k<<<1,256>>>(0,0,n); }',
    ),
    "ifdef": (
        (
            "#if defined(_WIN32) || defined(_WIN64)\n"
            "#include <windows.h>\n"
            "#elif defined(__linux__)\n"
            "#include <sys/time.h>\n"
            "#else\n"
            '#error "unknown"\n'
            "#endif\n"
            "#ifdef USE_DOUBLE\n"
            "typedef double real;\n"
            "#else\n"
            "typedef float real;\n"
            "#endif\n"
            "#ifndef CHECK\n"
            "#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "
            '"%s\\n", cudaGetErrorString(e_)); exit(1); } } while (0)\n'
            "#endif\n"
        ),
        (
            "int main() { real *d; CHECK(cudaMalloc(&d, 4)); struct timeval tv; gettimeofday(&tv, "
            "NULL); k<<<1,256>>>(d,d,3); CHECK(cudaGetLastError()); }"
        ),
    ),
    "checkmacro": (
        "",
        (
            "int main() { float *d; CUDA_CHECK(cudaMalloc(&d, 4)); CUDA_SAFE_CALL(cudaFree(d)); "
            "CUDA_CALL(cudaDeviceReset()); cutilSafeCall(cudaThreadSynchronize()); "
            'k<<<1,256>>>(d,d,3); CUT_CHECK_ERROR("x"); }'
        ),
    ),
    "gl": (
        (
            "#include <GL/glew.h>\n"
            "#include <GL/freeglut.h>\n"
            "#include <cuda_gl_interop.h>\n"
            "GLuint vbo; struct cudaGraphicsResource *res; static GLfloat angle = 0.f;\n"
            "void display(void); void keyboard(unsigned char key, int x, int y);\n"
        ),
        (
            "void createVBO(GLuint *vbo, struct cudaGraphicsResource **r, unsigned int flags) { "
            "glGenBuffers(1, vbo); glBindBuffer(GL_ARRAY_BUFFER, *vbo); "
            "cudaGraphicsGLRegisterBuffer(r, *vbo, flags); }\n"
            "void display() { k<<<1,256>>>(0,0,3); glutSwapBuffers(); }"
        ),
    ),
    "cublas": (
        (
            "#include <cublas_v2.h>\n"
            "#include <cudnn.h>\n"
            "#include <nccl.h>\n"
            "#include <cufft.h>\n"
            "#include <cusparse.h>\n"
            "#include <mpi.h>\n"
            "cublasHandle_t handle; cudnnHandle_t h2; ncclComm_t comm; static cufftHandle plan;\n"
        ),
        (
            "int main() { cublasCreate(&handle); const float al = 1.f; cublasSgemm(handle, "
            "CUBLAS_OP_N, CUBLAS_OP_N, 1,1,1, &al, 0,1,0,1,&al,0,1); k<<<1,256>>>(0,0,3); "
            "MPI_Finalize(); }"
        ),
    ),
    "thrust": (
        "#include <thrust/device_vector.h>\n#include <thrust/sort.h>\n#include <thrust/functional.h>\n",
        (
            "int main() { thrust::device_vector<float> v(1000); thrust::host_vector<int> h; "
            "thrust::sort(v.begin(), v.end()); k<<<4,256>>>(thrust::raw_pointer_cast(v.data()), "
            "thrust::raw_pointer_cast(&v[0]), 1000); }"
        ),
    ),
    "thrust_global": (
        (
            "#include <thrust/device_vector.h>\n"
            "thrust::device_vector<float> g_v;\n"
            "static thrust::host_vector<int> g_h(10);\n"
            "void f(thrust::device_vector<float> &a, int n);\n"
        ),
        "",
    ),
    "chrono": (
        (
            "#include <chrono>\n"
            "using namespace std;\n"
            "using namespace std::chrono;\n"
            "using clk = std::chrono::high_resolution_clock;\n"
            "typedef std::chrono::duration<double> dur;\n"
            "auto t0 = clk::now();\n"
        ),
        (
            "int main() { auto t = chrono::high_resolution_clock::now(); k<<<1,256>>>(0,0,4); cout << "
            "duration_cast<milliseconds>(clk::now() - t).count() << endl; }"
        ),
    ),
    "usingstd": (
        (
            "#include <iostream>\n"
            "#include <vector>\n"
            "using std::vector; using std::cout; using std::endl; using std::string;\n"
            "vector<float> data(100);\n"
            'string name = "x";\n'
            "void show(const vector<float> &c, const string &a);\n"
        ),
        "",
    ),
    "usingns": (
        (
            "#include <bits/stdc++.h>\n"
            "using namespace std;\n"
            "vector<vector<int>> adj; map<int, vector<int>> m; priority_queue<int> q; pair<int,int> p "
            "= make_pair(1, 2);\n"
            "int a, i; vector<int> c; \n"
        ),
        "",
    ),
    "globals_same": (
        "#include <vector>\nstd::vector<float> i, n2;\n",
        "",
    ),
    "argparse": (
        (
            "#include <unistd.h>\n"
            "#include <getopt.h>\n"
            "static struct option long_options[] = {{\"n\", required_argument, 0, 'n'}, {0, 0, 0, 0}};\n"
        ),
        (
            'int main(int argc, char *argv[]) { int c; while ((c = getopt(argc, argv, "n:")) != -1) '
            "switch (c) { case 'n': break; default: return 1; } k<<<1,256>>>(0,0,atoi(optarg)); }"
        ),
    ),
    "cppclass": (
        (
            "class Base { public: virtual void run() = 0; virtual ~Base() {} protected: "
            "std::shared_ptr<int> p; };\n"
            "class D : public Base, public std::enable_shared_from_this<D> { void run() override; int "
            "n; };\n"
        ),
        "void D::run() { k<<<1,256>>>(nullptr, nullptr, n); }",
    ),
    "constexpr": (
        (
            "#include <array>\n"
            "constexpr std::array<int, 3> sizes{1, 2, 3}; constexpr int kN = 256; static constexpr "
            "size_t kBytes = kN * sizeof(float); enum class Mode { A, B };\n"
        ),
        "int main() { for (int s : sizes) k<<<1, kN>>>(nullptr, nullptr, s); }",
    ),
    "torch": (
        "#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\n#include <c10/cuda/CUDAGuard.h>\n",
        (
            "torch::Tensor forward(torch::Tensor x) { auto y = torch::empty_like(x); const int n = "
            'x.numel(); AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "f", ([&] { k<<<(n+255)/256, 256, '
            "0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(), n); })); "
            "return y; }\n"
            'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "f"); }'
        ),
    ),
    "torch_tmpl": (
        "#include <torch/extension.h>\n",
        (
            "std::vector<at::Tensor> bw(at::Tensor g) { CHECK_INPUT(g); k<<<1,256>>>(g.data<float>(), "
            "g.data<float>(), g.size(0)); return {g}; }"
        ),
    ),
    "tmplkernel": (
        "#include <vector>\n",
        (
            "template<int B> void go(float *a, int n) { k<<<n / B, B>>>(a, a, n); } template void "
            "go<256>(float *, int); void h(int b) { switch (b) { case 256: go<256>(0, 1); break; } }"
        ),
    ),
    "exception": (
        "#include <stdexcept>\n#include <sstream>\n",
        (
            "void check(cudaError_t e, const char *file, int line) { if (e != cudaSuccess) { "
            "std::stringstream ss; ss << file << line; throw std::runtime_error(ss.str()); } }\n"
            "#define CHK(x) check((x), __FILE__, __LINE__)\n"
            "int main() try { CHK(cudaSetDevice(0)); k<<<1,256>>>(0,0,0); } catch (const "
            "std::exception &e) { std::cerr << e.what(); return 1; }"
        ),
    ),
    "rand": (
        (
            "#include <random>\n"
            "#include <ctime>\n"
            "#include <cstdlib>\n"
            "std::mt19937 gen(42); std::uniform_real_distribution<float> dist(0.f, 1.f);\n"
        ),
        (
            "void init(float *a, int n) { srand(time(NULL)); for (int i = 0; i < n; ++i) a[i] = "
            "dist(gen) + rand() / (float)RAND_MAX; }"
        ),
    ),
    "threads": (
        (
            "#include <thread>\n"
            "#include <mutex>\n"
            "#include <atomic>\n"
            "#include <omp.h>\n"
            "std::mutex mtx; std::atomic<int> cnt{0}; thread_local int tl = 3;\n"
        ),
        (
            "void w(int n) { std::lock_guard<std::mutex> l(mtx); k<<<1,256>>>(0,0,n); } int main() { "
            "std::thread t(w, 3); t.join();\n"
            "#pragma omp parallel for\n"
            "for (int i = 0; i < 3; i++) w(i); }"
        ),
    ),
    "streams": (
        "",
        (
            "int main() { cudaStream_t st[4]; cudaEvent_t e0, e1; cudaEventCreate(&e0); "
            "cudaEventRecord(e0, 0); for (int i = 0; i < 4; i++) { cudaStreamCreate(&st[i]); k<<<4, "
            "256, 0, st[i]>>>(0,0,i); } float ms; cudaEventElapsedTime(&ms, e0, e1); cudaDeviceProp "
            'prop; cudaGetDeviceProperties(&prop, 0); printf("%s %f", prop.name, ms); '
            "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024); "
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor(0, k, 256, 0); }"
        ),
    ),
    "graph": (
        "",
        (
            "int main() { cudaGraph_t g; cudaGraphExec_t ge; cudaGraphCreate(&g, 0); "
            "cudaKernelNodeParams p = {0}; p.func = (void *)k; p.gridDim = dim3(1); void *args[] = "
            "{0}; cudaLaunchKernel((void *)k, dim3(4), dim3(256), args, 0, 0); "
            "cudaLaunchCooperativeKernel((void *)k, 4, 256, args); cudaLaunchConfig_t cfg = {0}; "
            "cudaLaunchKernelEx(&cfg, k, (const float *)0, (float *)0, 3); }"
        ),
    ),
    "undefined_types": (
        "typedef MyLibTensor<float> T4; struct Ctx { MyHandle h; int n; T4 t; }; static Ctx ctx; Foo bar(int n);\n",
        "void run(Ctx &c) { k<<<1,256>>>(c.t.p, c.t.p, c.n); }",
    ),
    "macros_unknown": (
        (
            "MY_EXPORT void a1(int n);\n"
            "DECLARE_OPERATOR(foo, bar)\n"
            "MY_API int a2(float *a) NOEXCEPT;\n"
            'REGISTER_KERNEL("k", k2);\n'
        ),
        "INSTANTIATE(float)\nREGISTER(k);\n",
    ),
    "eigen": (
        (
            "#include <Eigen/Dense>\n"
            "#include <opencv2/opencv.hpp>\n"
            "using namespace Eigen; using namespace cv;\n"
            "MatrixXf A; Mat img; typedef Matrix<float, 3, 1> V3;\n"
        ),
        "void f(const Mat &in, Mat &out) { k<<<dim3(in.cols), 256>>>(in.ptr<float>(), out.ptr<float>(), in.rows); }",
    ),
    "cstyle": (
        (
            "#include <stdlib.h>\n"
            "#include <math.h>\n"
            "#include <string.h>\n"
            "#include <assert.h>\n"
            "#include <sys/types.h>\n"
            "#include <fcntl.h>\n"
            "#include <float.h>\n"
            "FILE *fp; static char buf[256]; struct timeval t1, t2; double gettime() { struct timeval "
            "t; gettimeofday(&t, NULL); return t.tv_sec + t.tv_usec * 1e-6; }\n"
        ),
        (
            'int main(int argc, char **argv) { fp = fopen(argv[1], "r"); fscanf(fp, "%d", &argc); '
            "float *h = (float *)malloc(10 * sizeof(float)); memset(h, 0, 40); k<<<1,256>>>(h, h, 10); "
            "free(h); return EXIT_SUCCESS; }"
        ),
    ),
    "initlist": (
        (
            "#include <initializer_list>\n"
            "#include <tuple>\n"
            "#include <optional>\n"
            "std::tuple<int, float> tp{1, 2.f}; std::optional<int> o; auto [x1, y1] = tp; inline int "
            "sum(std::initializer_list<int> l) { int s = 0; for (int a : l) s += a; return s; }\n"
        ),
        "",
    ),
    "attrs": (
        (
            "[[nodiscard]] static int q1(int n) noexcept; [[maybe_unused]] static inline void q2() {} "
            "alignas(16) static float tab[4]; __declspec(dllexport) void q3(int n); "
            '__attribute__((visibility("default"))) void q4(); \n'
        ),
        "",
    ),
    "rawstr": (
        (
            "#include <string>\n"
            'static const char *src = R"(__global__ void z(int *a) { a[0] = 1; })"; static const char '
            "*s2 = \"a; b { c\"; char c1 = '{';\n"
        ),
        "",
    ),
    "nvtx": (
        "#include <nvToolsExt.h>\n#include <nvtx3/nvtx3.hpp>\n",
        'int main() { nvtxRangePushA("a"); NVTX3_FUNC_RANGE(); k<<<1,256>>>(0,0,1); nvtxRangePop(); }',
    ),
    "cli": (
        '#include "cxxopts.hpp"\n#include "timer.h"\n#include "utils.cuh"\n#include "common/errors.h"\n',
        (
            'int main(int argc, char **argv) { cxxopts::Options o("a", "b"); o.add_options()("n", "N", '
            "cxxopts::value<int>()); auto r = o.parse(argc, argv); Timer t; t.start(); k<<<GRID, "
            '256>>>(0,0,r["n"].as<int>()); }'
        ),
    ),
    "structptr": (
        (
            "#include <list>\n"
            "struct Node { std::list<Node *> kids; float a; int n; }; Node *root; struct Tree { Node "
            "n; std::vector<Node> v; Tree() : v(3) {} };\n"
        ),
        "",
    ),
    "opover": (
        (
            "#include <ostream>\n"
            "std::ostream &operator<<(std::ostream &o, const float4 &v) { return o << v.x << v.y; } "
            "bool operator==(const std::string &a, int b); inline float3 operator+(const float3 &a, "
            "const float3 &b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }\n"
        ),
        "",
    ),
    "cudadrv": (
        "#include <cuda.h>\n#include <nvrtc.h>\nCUdevice dev; CUcontext ctx; CUmodule mod; CUfunction fn;\n",
        (
            "int main() { cuInit(0); CUdeviceptr p; cuMemAlloc(&p, 4); cuLaunchKernel(fn, 1,1,1, "
            "256,1,1, 0, 0, 0, 0); k<<<1,256>>>((float *)p, 0, 1); }"
        ),
    ),
    "fmt": (
        "#include <fmt/core.h>\n#include <spdlog/spdlog.h>\n#include <gtest/gtest.h>\n",
        (
            "TEST(Suite, Works) { k<<<1,256>>>(0,0,1); ASSERT_EQ(cudaSuccess, cudaGetLastError()); "
            'EXPECT_TRUE(true) << "x"; } TEST_F(Fix, A) {} TYPED_TEST(T1, B) { }'
        ),
    ),
    "bench": (
        "#include <benchmark/benchmark.h>\n",
        (
            "static void BM_k(benchmark::State &state) { for (auto _ : state) { "
            "k<<<4,256>>>(0,0,state.range(0)); } } BENCHMARK(BM_k)->Range(8, 1024); BENCHMARK_MAIN();"
        ),
    ),
    "concepts": (
        (
            "#include <concepts>\n"
            "template <typename T> concept Num = std::is_arithmetic_v<T>; template <Num T> T twice(T "
            "x) { return x + x; } \n"
        ),
        "",
    ),
    "mutex_tmpl_spec": (
        (
            "#include <type_traits>\n"
            "template <class T, class = std::enable_if_t<std::is_floating_point<T>::value>> void "
            "launch(T *a, int n); template <> struct std::hash<int3> { size_t operator()(int3 v) const "
            "{ return v.x; } };\n"
        ),
        "",
    ),
}


@pytest.mark.parametrize("style", STYLES)
def test_host_code_stops_no_kernel(read: Read, style: str) -> None:
    before, after = STYLES[style]
    assert show_stmt(read(before + KERNEL + after, "k").kernel.body) == EXPECTED


@pytest.mark.parametrize("style", STYLES)
def test_a_kernel_that_names_what_is_lost_there_is_refused(read: Read, style: str) -> None:
    """A function that is declared with an unknown type, among the same host code."""
    before, after = STYLES[style]
    lost = "lib::unknown which(int i);\n"
    with pytest.raises(CudaError, match=r"lib|which"):
        read(lost + before + KERNEL.replace("a[i] * 2.f", "which(i)") + after, "k")
