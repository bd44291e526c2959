/* What host code calls of CUDA's runtime, so that clang understands what is around it: launches, and templates that
   launch. Arguments may be anything; kernels cannot call it. */
#pragma push_macro("CALL")
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
extern "C++" {
#define CALL(F) template <class... _Tp> __host__ cudaError_t F(_Tp...);
CALL(cudaMalloc) CALL(cudaMallocAsync) CALL(cudaMallocHost) CALL(cudaMallocManaged) CALL(cudaMallocPitch)
CALL(cudaMallocArray) CALL(cudaMalloc3D) CALL(cudaHostAlloc) CALL(cudaFree) CALL(cudaFreeAsync) CALL(cudaFreeHost)
CALL(cudaFreeArray) CALL(cudaMemcpy) CALL(cudaMemcpyAsync) CALL(cudaMemcpy2D) CALL(cudaMemcpy2DAsync)
CALL(cudaMemcpyToArray) CALL(cudaMemcpyToSymbol) CALL(cudaMemcpyToSymbolAsync) CALL(cudaMemcpyFromSymbol)
CALL(cudaMemset) CALL(cudaMemsetAsync) CALL(cudaMemset2D) CALL(cudaMemGetInfo) CALL(cudaMemPrefetchAsync)
CALL(cudaMemAdvise) CALL(cudaHostRegister) CALL(cudaHostUnregister) CALL(cudaHostGetDevicePointer)
CALL(cudaDeviceSynchronize) CALL(cudaThreadSynchronize) CALL(cudaThreadExit) CALL(cudaDeviceReset) CALL(cudaSetDevice)
CALL(cudaGetDevice) CALL(cudaGetDeviceCount) CALL(cudaGetDeviceProperties) CALL(cudaDeviceGetAttribute)
CALL(cudaSetDeviceFlags) CALL(cudaDeviceSetLimit) CALL(cudaDeviceSetCacheConfig) CALL(cudaDeviceSetSharedMemConfig)
CALL(cudaGetLastError) CALL(cudaPeekAtLastError) CALL(cudaStreamCreate) CALL(cudaStreamCreateWithFlags)
CALL(cudaStreamDestroy) CALL(cudaStreamSynchronize) CALL(cudaStreamWaitEvent) CALL(cudaStreamQuery)
CALL(cudaEventCreate) CALL(cudaEventCreateWithFlags) CALL(cudaEventRecord) CALL(cudaEventSynchronize)
CALL(cudaEventElapsedTime) CALL(cudaEventDestroy) CALL(cudaEventQuery) CALL(cudaFuncSetAttribute)
CALL(cudaFuncSetCacheConfig) CALL(cudaFuncGetAttributes) CALL(cudaOccupancyMaxPotentialBlockSize)
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor) CALL(cudaGetSymbolAddress) CALL(cudaGetSymbolSize)
CALL(cudaBindTexture) CALL(cudaBindTexture2D) CALL(cudaBindTextureToArray) CALL(cudaUnbindTexture)
CALL(cudaCreateTextureObject) CALL(cudaDestroyTextureObject) CALL(cudaCreateSurfaceObject)
CALL(cudaDestroySurfaceObject) CALL(cudaLaunchKernel) CALL(cudaLaunchKernelExC) CALL(cudaLaunchCooperativeKernel)
CALL(cudaGraphLaunch) CALL(cudaGraphInstantiate) CALL(cudaStreamBeginCapture) CALL(cudaStreamEndCapture)
__host__ const char *cudaGetErrorString(cudaError_t);
__host__ const char *cudaGetErrorName(cudaError_t);
}
#pragma pop_macro("CALL")
