/* What host code calls of CUDA's runtime, so that clang understands what is around it: launches, and templates that
   launch. Arguments may be anything; kernels cannot call it. */
#pragma push_macro("CALL")
enum cudaMemcpyKind {
  cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault
};
typedef struct cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct cudaMipmappedArray *cudaMipmappedArray_t;
typedef struct CUmemPoolHandle_st *cudaMemPool_t;
typedef struct CUgraphNode_st *cudaGraphNode_t;
typedef struct CUuserObject_st *cudaUserObject_t;
typedef struct CUfunc_st *cudaFunction_t;
typedef struct CUkern_st *cudaKernel_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUexternalMemory_st *cudaExternalMemory_t;
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t;
typedef void (*cudaHostFn_t)(void *);
typedef void (*cudaStreamCallback_t)(cudaStream_t, cudaError_t, void *);
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed };
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1, cudaFuncCachePreferEqual };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum cudaResourceType {
  cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D
};
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms {
  cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr;
  cudaExtent extent; cudaMemcpyKind kind;
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { cudaMipmappedArray_t mipmap; } mipmap;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode; int sRGB;
  float borderColor[4]; int normalizedCoords; unsigned maxAnisotropy; cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp; int disableTrilinearOptimization, seamlessCubemap;
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
  int cacheModeCA, maxDynamicSharedSizeBytes, preferredShmemCarveout;
};
struct cudaPointerAttributes { cudaMemoryType type; int device; void *devicePointer, *hostPointer; };
struct cudaKernelNodeParams { void *func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void **kernelParams, **extra; };
struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; cudaLaunchAttribute *attrs; unsigned numAttrs;
};
struct cudaLaunchParams { void *func; dim3 gridDim, blockDim; void **args; size_t sharedMem; cudaStream_t stream; };
struct cudaUUID_t { char bytes[16]; };
struct cudaIpcMemHandle_t { char reserved[64]; };
struct cudaIpcEventHandle_t { char reserved[64]; };
struct cudaDeviceProp {
  char name[256]; cudaUUID_t uuid; size_t totalGlobalMem, sharedMemPerBlock; int regsPerBlock, warpSize; size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate; size_t totalConstMem; int major, minor;
  size_t textureAlignment, texturePitchAlignment; int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled;
  int integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID;
  int tccDriver, asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
  int persistingL2CacheMaxSize, maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported;
  int localL1CacheSupported; size_t sharedMemPerMultiprocessor; int regsPerMultiprocessor, managedMemory;
  int isMultiGpuBoard, multiGpuBoardGroupID, singleToDoublePrecisionPerfRatio, pageableMemoryAccess;
  int concurrentManagedAccess, computePreemptionSupported, canUseHostPointerForRegisteredMem, cooperativeLaunch;
  int cooperativeMultiDeviceLaunch; size_t sharedMemPerBlockOptin; int directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize; size_t reservedSharedMemPerBlock;
};
extern "C++" {
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *d, size_t p, size_t xs, size_t ys) { return {d, p, xs, ys}; }
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
CALL(cudaMemcpy3D) CALL(cudaMemcpy3DAsync) CALL(cudaMemcpyPeerAsync) CALL(cudaMalloc3DArray) CALL(cudaGetChannelDesc)
CALL(cudaGraphicsMapResources) CALL(cudaGraphicsUnmapResources) CALL(cudaGraphicsResourceGetMappedPointer)
CALL(cudaGraphicsSubResourceGetMappedArray) CALL(cudaGraphicsUnregisterResource) CALL(cudaGraphicsGLRegisterBuffer)
CALL(cudaGraphicsResourceSetMapFlags) CALL(cudaPointerGetAttributes) CALL(cudaDeviceEnablePeerAccess)
CALL(cudaDeviceCanAccessPeer) CALL(cudaStreamCreateWithPriority) CALL(cudaDeviceGetStreamPriorityRange)
CALL(cudaStreamAttachMemAsync) CALL(cudaLaunchHostFunc) CALL(cudaStreamAddCallback) CALL(cudaOccupancyAvailableDynamicSMemPerBlock)
CALL(cudaOccupancyMaxPotentialBlockSizeVariableSMem) CALL(cudaLaunchCooperativeKernelMultiDevice)
CALL(cudaGraphCreate) CALL(cudaGraphDestroy) CALL(cudaGraphExecDestroy) CALL(cudaGraphAddKernelNode)
CALL(cudaGraphLaunch) CALL(cudaGraphInstantiate) CALL(cudaStreamBeginCapture) CALL(cudaStreamEndCapture)
__host__ const char *cudaGetErrorString(cudaError_t);
__host__ const char *cudaGetErrorName(cudaError_t);
}
#pragma pop_macro("CALL")
