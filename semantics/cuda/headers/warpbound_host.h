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
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout,
  cudaFuncAttributeClusterDimMustBeSet, cudaFuncAttributeNonPortableClusterSizeAllowed = 14
};
enum cudaSharedCarveout {
  cudaSharedmemCarveoutDefault = -1, cudaSharedmemCarveoutMaxL1, cudaSharedmemCarveoutMaxShared = 100
};
enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX, cudaDevAttrMaxBlockDimY, cudaDevAttrMaxBlockDimZ,
  cudaDevAttrMaxGridDimX, cudaDevAttrMaxGridDimY, cudaDevAttrMaxGridDimZ, cudaDevAttrMaxSharedMemoryPerBlock,
  cudaDevAttrTotalConstantMemory, cudaDevAttrWarpSize, cudaDevAttrMaxPitch, cudaDevAttrMaxRegistersPerBlock,
  cudaDevAttrClockRate, cudaDevAttrTextureAlignment, cudaDevAttrGpuOverlap, cudaDevAttrMultiProcessorCount,
  cudaDevAttrKernelExecTimeout, cudaDevAttrIntegrated, cudaDevAttrCanMapHostMemory, cudaDevAttrComputeMode,
  cudaDevAttrConcurrentKernels = 31, cudaDevAttrEccEnabled, cudaDevAttrTccDriver = 35, cudaDevAttrMemoryClockRate,
  cudaDevAttrGlobalMemoryBusWidth, cudaDevAttrL2CacheSize, cudaDevAttrMaxThreadsPerMultiProcessor,
  cudaDevAttrAsyncEngineCount, cudaDevAttrUnifiedAddressing, cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor, cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor, cudaDevAttrManagedMemory, cudaDevAttrIsMultiGpuBoard,
  cudaDevAttrHostNativeAtomicSupported = 86, cudaDevAttrPageableMemoryAccess = 88, cudaDevAttrConcurrentManagedAccess,
  cudaDevAttrCooperativeLaunch = 95, cudaDevAttrCooperativeMultiDeviceLaunch, cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106, cudaDevAttrMemoryPoolsSupported = 115, cudaDevAttrClusterLaunch = 120
};
enum cudaLimit {
  cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
  cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize
};
enum cudaMemoryAdvise {
  cudaMemAdviseSetReadMostly = 1, cudaMemAdviseUnsetReadMostly, cudaMemAdviseSetPreferredLocation,
  cudaMemAdviseUnsetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseUnsetAccessedBy
};
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte };
enum cudaGraphicsRegisterFlags {
  cudaGraphicsRegisterFlagsNone, cudaGraphicsRegisterFlagsReadOnly, cudaGraphicsRegisterFlagsWriteDiscard,
  cudaGraphicsRegisterFlagsSurfaceLoadStore = 4, cudaGraphicsRegisterFlagsTextureGather = 8
};
enum cudaGraphicsMapFlags { cudaGraphicsMapFlagsNone, cudaGraphicsMapFlagsReadOnly, cudaGraphicsMapFlagsWriteDiscard };
enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost };
enum cudaMemAllocationType { cudaMemAllocationTypeInvalid, cudaMemAllocationTypePinned };
enum cudaMemAccessFlags {
  cudaMemAccessFlagsProtNone, cudaMemAccessFlagsProtRead, cudaMemAccessFlagsProtReadWrite = 3
};
enum cudaMemPoolAttr {
  cudaMemPoolReuseFollowEventDependencies = 1, cudaMemPoolReuseAllowOpportunistic,
  cudaMemPoolReuseAllowInternalDependencies, cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrReservedMemCurrent,
  cudaMemPoolAttrReservedMemHigh, cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh
};
enum cudaGraphNodeType {
  cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy, cudaGraphNodeTypeMemset, cudaGraphNodeTypeHost,
  cudaGraphNodeTypeGraph, cudaGraphNodeTypeEmpty, cudaGraphNodeTypeConditional = 13
};
enum cudaAccessProperty { cudaAccessPropertyNormal, cudaAccessPropertyStreaming, cudaAccessPropertyPersisting };
enum {
  cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2,
  cudaEventInterprocess = 4, cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
  cudaHostAllocWriteCombined = 4, cudaHostRegisterDefault = 0, cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2,
  cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4, cudaDeviceScheduleAuto = 0,
  cudaDeviceScheduleSpin = 1, cudaDeviceScheduleYield = 2, cudaDeviceScheduleBlockingSync = 4, cudaDeviceMapHost = 8,
  cudaDeviceLmemResizeToMax = 16, cudaArrayDefault = 0, cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2,
  cudaArrayCubemap = 4, cudaArrayTextureGather = 8, cudaOccupancyDefault = 0, cudaCpuDeviceId = -1,
  cudaInvalidDeviceId = -2
};
#define cudaStreamDefault 0
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)
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
struct cudaMemLocation { cudaMemLocationType type; int id; };
struct cudaMemAccessDesc { cudaMemLocation location; cudaMemAccessFlags flags; };
struct cudaAccessPolicyWindow { void *base_ptr; size_t num_bytes; float hitRatio; cudaAccessProperty hitProp, missProp; };
struct cudaMemsetParams { void *dst; size_t pitch; unsigned value, elementSize; size_t width, height; };
struct cudaHostNodeParams { cudaHostFn_t fn; void *userData; };
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
template <class _T> __device__ cudaError_t cudaMalloc(_T **_p, size_t _n) {
  _T *_q = (_T *)malloc(_n);
  *_p = _q;
  return _q ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline __device__ cudaError_t cudaFree(void *_p) {
  free(_p);
  return cudaGetLastError();
}
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
CALL(cudaMemcpyPeer) CALL(cudaMemcpy2DToArray) CALL(cudaMemcpy2DFromArray) CALL(cudaMemcpyFromArray)
CALL(cudaMemcpy3DPeer) CALL(cudaMemcpyFromSymbolAsync) CALL(cudaMemset2DAsync) CALL(cudaMemset3D) CALL(cudaMemset3DAsync)
CALL(cudaMallocFromPoolAsync) CALL(cudaMemPoolCreate) CALL(cudaMemPoolDestroy) CALL(cudaMemPoolSetAttribute)
CALL(cudaMemPoolGetAttribute) CALL(cudaMemPoolSetAccess) CALL(cudaMemPoolTrimTo) CALL(cudaDeviceGetDefaultMemPool)
CALL(cudaDeviceSetMemPool) CALL(cudaDeviceGetMemPool) CALL(cudaMallocMipmappedArray) CALL(cudaFreeMipmappedArray)
CALL(cudaGetMipmappedArrayLevel) CALL(cudaDeviceGetLimit) CALL(cudaDeviceDisablePeerAccess) CALL(cudaDeviceGetPCIBusId)
CALL(cudaDeviceGetP2PAttribute) CALL(cudaDriverGetVersion) CALL(cudaRuntimeGetVersion) CALL(cudaFuncSetSharedMemConfig)
CALL(cudaEventRecordWithFlags) CALL(cudaStreamGetPriority) CALL(cudaStreamGetFlags) CALL(cudaStreamIsCapturing)
CALL(cudaStreamSetAttribute) CALL(cudaStreamGetAttribute) CALL(cudaStreamGetCaptureInfo) CALL(cudaMemRangeGetAttribute)
CALL(cudaIpcGetMemHandle) CALL(cudaIpcOpenMemHandle) CALL(cudaIpcCloseMemHandle) CALL(cudaIpcGetEventHandle)
CALL(cudaIpcOpenEventHandle) CALL(cudaImportExternalMemory) CALL(cudaDestroyExternalMemory)
CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) CALL(cudaOccupancyMaxPotentialBlockSizeWithFlags)
CALL(cudaLaunchKernelEx) CALL(cudaGraphAddMemcpyNode) CALL(cudaGraphAddMemcpyNode1D) CALL(cudaGraphAddMemsetNode)
CALL(cudaGraphAddHostNode) CALL(cudaGraphAddChildGraphNode) CALL(cudaGraphAddEmptyNode) CALL(cudaGraphAddNode)
CALL(cudaGraphAddDependencies) CALL(cudaGraphAddMemAllocNode) CALL(cudaGraphAddMemFreeNode) CALL(cudaGraphGetNodes)
CALL(cudaGraphClone) CALL(cudaGraphInstantiateWithFlags) CALL(cudaGraphExecUpdate) CALL(cudaGraphExecKernelNodeSetParams)
CALL(cudaGraphKernelNodeSetParams) CALL(cudaGraphKernelNodeGetParams) CALL(cudaGraphNodeGetType) CALL(cudaGraphUpload)
CALL(cudaGraphConditionalHandleCreate) CALL(cudaGraphDebugDotPrint) CALL(cudaUserObjectCreate)
CALL(cudaGraphRetainUserObject) CALL(cudaGraphLaunch) CALL(cudaGraphInstantiate) CALL(cudaStreamBeginCapture) CALL(cudaStreamEndCapture)
__host__ const char *cudaGetErrorString(cudaError_t);
__host__ const char *cudaGetErrorName(cudaError_t);
}
#pragma pop_macro("CALL")
