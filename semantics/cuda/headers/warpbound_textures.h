/* Textures and surfaces, by reference and by object. Nothing here has a body. */
#pragma once
#pragma push_macro("DEV")
#pragma push_macro("BOTH")
#pragma push_macro("FETCH")
#pragma push_macro("SURFACE")
#pragma push_macro("MODE")
#define DEV __device__
#define cudaTextureType1D 0x01
#define cudaTextureType2D 0x02
#define cudaTextureType3D 0x03
#define cudaTextureTypeCubemap 0x0C
#define cudaTextureType1DLayered 0xF1
#define cudaTextureType2DLayered 0xF2
#define cudaTextureTypeCubemapLayered 0xFC
#define cudaSurfaceType1D 0x01
#define cudaSurfaceType2D 0x02
#define cudaSurfaceType3D 0x03
#define cudaSurfaceTypeCubemap 0x0C
#define cudaSurfaceType1DLayered 0xF1
#define cudaSurfaceType2DLayered 0xF2
#define cudaSurfaceTypeCubemapLayered 0xFC

extern "C++" {
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
enum cudaSurfaceFormatMode { cudaFormatModeForced, cudaFormatModeAuto };
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat,
  cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct textureReference {
  int normalized; cudaTextureFilterMode filterMode; cudaTextureAddressMode addressMode[3];
  cudaChannelFormatDesc channelDesc;
};
template <class _Tp, int dim = 1, cudaTextureReadMode mode = cudaReadModeElementType>
struct __attribute__((device_builtin_texture_type)) texture : textureReference {};
struct surfaceReference { cudaChannelFormatDesc channelDesc; };
template <class _Tp, int dim = 1> struct __attribute__((device_builtin_surface_type)) surface;
template <int dim> struct __attribute__((device_builtin_surface_type)) surface<void, dim> : surfaceReference {};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;

/* What a texture of a type gives: floats for whole numbers that are read as parts of 1. */
template <class _Tp, cudaTextureReadMode> struct __warpbound_read { typedef _Tp type; };
#define MODE(T, R) template <> struct __warpbound_read<T, cudaReadModeNormalizedFloat> { typedef R type; };
MODE(char, float) MODE(signed char, float) MODE(unsigned char, float) MODE(short, float) MODE(unsigned short, float)
MODE(char1, float1) MODE(uchar1, float1) MODE(short1, float1) MODE(ushort1, float1)
MODE(char2, float2) MODE(uchar2, float2) MODE(short2, float2) MODE(ushort2, float2)
MODE(char4, float4) MODE(uchar4, float4) MODE(short4, float4) MODE(ushort4, float4)
template <class _Tp> struct __warpbound_gather { typedef _Tp type; };
#define FETCH(F, ...) \
  template <class _Tp, int d, cudaTextureReadMode m> \
  DEV typename __warpbound_read<_Tp, m>::type F(texture<_Tp, d, m>, __VA_ARGS__); \
  template <class _Tp> DEV _Tp F(cudaTextureObject_t, __VA_ARGS__); \
  template <class _Tp> DEV void F(_Tp *, cudaTextureObject_t, __VA_ARGS__);
FETCH(tex1Dfetch, int)
#define BOTH(F, GRAD, ...) FETCH(F, __VA_ARGS__) FETCH(F##Lod, __VA_ARGS__, float) \
  FETCH(F##Grad, __VA_ARGS__, GRAD, GRAD)
BOTH(tex1D, float, float) BOTH(tex2D, float2, float, float) BOTH(tex3D, float4, float, float, float)
BOTH(tex1DLayered, float, float, int) BOTH(tex2DLayered, float2, float, float, int)
BOTH(texCubemap, float4, float, float, float) BOTH(texCubemapLayered, float4, float, float, float, int)
FETCH(tex2Dgather, float, float, int) FETCH(tex2Dgather, float, float)
/* The same, which also say whether the texel is in memory. */
FETCH(tex2D, float, float, bool *) FETCH(tex2DLayered, float, float, int, bool *)
FETCH(tex2DGrad, float, float, float2, float2, bool *) FETCH(tex2DLod, float, float, float, bool *)
FETCH(tex2DLayeredGrad, float, float, int, float2, float2, bool *) FETCH(tex2DLayeredLod, float, float, int, float, bool *)
FETCH(tex2Dgather, float, float, bool *, int) FETCH(tex3D, float, float, float, bool *)
FETCH(tex3DGrad, float, float, float, float4, float4, bool *) FETCH(tex3DLod, float, float, float, float, bool *)

#define SURFACE(F, ...) \
  template <class _Tp> DEV _Tp F##read(cudaSurfaceObject_t, __VA_ARGS__, \
    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <class _Tp> DEV void F##read(_Tp *, cudaSurfaceObject_t, __VA_ARGS__, \
    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <class _Tp> DEV void F##write(_Tp, cudaSurfaceObject_t, __VA_ARGS__, \
    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <class _Tp, int d> DEV _Tp F##read(surface<void, d>, __VA_ARGS__, \
    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <class _Tp, int d> DEV void F##read(_Tp *, surface<void, d>, __VA_ARGS__, \
    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap); \
  template <class _Tp, int d> DEV void F##write(_Tp, surface<void, d>, __VA_ARGS__, \
    cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
SURFACE(surf1D, int) SURFACE(surf2D, int, int) SURFACE(surf3D, int, int, int) SURFACE(surf1DLayered, int, int)
SURFACE(surf2DLayered, int, int, int) SURFACE(surfCubemap, int, int, int) SURFACE(surfCubemapLayered, int, int, int)
}
#pragma pop_macro("DEV")
#pragma pop_macro("BOTH")
#pragma pop_macro("FETCH")
#pragma pop_macro("SURFACE")
#pragma pop_macro("MODE")
