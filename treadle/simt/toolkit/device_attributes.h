/// The attributes of a CUDA device, with the values that the executor's device has: those of an H100 (SXM,
/// compute capability 9.0) where they are about what a kernel may use, and none of what the executor has not
/// (textures' other forms, clusters, peers).
#pragma once

// clang-format off
#define TREADLE_DEVICE_ATTRIBUTES(A) \
  A(cudaDevAttrMaxThreadsPerBlock, 1, 1024) \
  A(cudaDevAttrMaxBlockDimX, 2, 1024) \
  A(cudaDevAttrMaxBlockDimY, 3, 1024) \
  A(cudaDevAttrMaxBlockDimZ, 4, 64) \
  A(cudaDevAttrMaxGridDimX, 5, 2147483647) \
  A(cudaDevAttrMaxGridDimY, 6, 65535) \
  A(cudaDevAttrMaxGridDimZ, 7, 65535) \
  A(cudaDevAttrMaxSharedMemoryPerBlock, 8, 49152) \
  A(cudaDevAttrTotalConstantMemory, 9, 65536) \
  A(cudaDevAttrWarpSize, 10, 32) \
  A(cudaDevAttrMaxPitch, 11, 2147483647) \
  A(cudaDevAttrMaxRegistersPerBlock, 12, 65536) \
  A(cudaDevAttrClockRate, 13, 1980000) \
  A(cudaDevAttrTextureAlignment, 14, 512) \
  A(cudaDevAttrGpuOverlap, 15, 1) \
  A(cudaDevAttrMultiProcessorCount, 16, 132) \
  A(cudaDevAttrKernelExecTimeout, 17, 0) \
  A(cudaDevAttrIntegrated, 18, 0) \
  A(cudaDevAttrCanMapHostMemory, 19, 1) \
  A(cudaDevAttrComputeMode, 20, 0) \
  A(cudaDevAttrMaxTexture1DWidth, 21, 131072) \
  A(cudaDevAttrMaxTexture2DWidth, 22, 131072) \
  A(cudaDevAttrMaxTexture2DHeight, 23, 65536) \
  A(cudaDevAttrMaxTexture3DWidth, 24, 16384) \
  A(cudaDevAttrMaxTexture3DHeight, 25, 16384) \
  A(cudaDevAttrMaxTexture3DDepth, 26, 16384) \
  A(cudaDevAttrMaxTexture2DLayeredWidth, 27, 0) \
  A(cudaDevAttrMaxTexture2DLayeredHeight, 28, 0) \
  A(cudaDevAttrMaxTexture2DLayeredLayers, 29, 0) \
  A(cudaDevAttrSurfaceAlignment, 30, 512) \
  A(cudaDevAttrConcurrentKernels, 31, 1) \
  A(cudaDevAttrEccEnabled, 32, 1) \
  A(cudaDevAttrPciBusId, 33, 0) \
  A(cudaDevAttrPciDeviceId, 34, 0) \
  A(cudaDevAttrTccDriver, 35, 0) \
  A(cudaDevAttrMemoryClockRate, 36, 2619000) \
  A(cudaDevAttrGlobalMemoryBusWidth, 37, 5120) \
  A(cudaDevAttrL2CacheSize, 38, 52428800) \
  A(cudaDevAttrMaxThreadsPerMultiProcessor, 39, 2048) \
  A(cudaDevAttrAsyncEngineCount, 40, 3) \
  A(cudaDevAttrUnifiedAddressing, 41, 1) \
  A(cudaDevAttrMaxTexture1DLayeredWidth, 42, 0) \
  A(cudaDevAttrMaxTexture1DLayeredLayers, 43, 0) \
  A(cudaDevAttrMaxTexture2DGatherWidth, 45, 0) \
  A(cudaDevAttrMaxTexture2DGatherHeight, 46, 0) \
  A(cudaDevAttrMaxTexture3DWidthAlt, 47, 0) \
  A(cudaDevAttrMaxTexture3DHeightAlt, 48, 0) \
  A(cudaDevAttrMaxTexture3DDepthAlt, 49, 0) \
  A(cudaDevAttrPciDomainId, 50, 0) \
  A(cudaDevAttrTexturePitchAlignment, 51, 32) \
  A(cudaDevAttrMaxTextureCubemapWidth, 52, 0) \
  A(cudaDevAttrMaxTextureCubemapLayeredWidth, 53, 0) \
  A(cudaDevAttrMaxTextureCubemapLayeredLayers, 54, 0) \
  A(cudaDevAttrMaxSurface1DWidth, 55, 0) \
  A(cudaDevAttrMaxSurface2DWidth, 56, 0) \
  A(cudaDevAttrMaxSurface2DHeight, 57, 0) \
  A(cudaDevAttrMaxSurface3DWidth, 58, 0) \
  A(cudaDevAttrMaxSurface3DHeight, 59, 0) \
  A(cudaDevAttrMaxSurface3DDepth, 60, 0) \
  A(cudaDevAttrMaxSurface1DLayeredWidth, 61, 0) \
  A(cudaDevAttrMaxSurface1DLayeredLayers, 62, 0) \
  A(cudaDevAttrMaxSurface2DLayeredWidth, 63, 0) \
  A(cudaDevAttrMaxSurface2DLayeredHeight, 64, 0) \
  A(cudaDevAttrMaxSurface2DLayeredLayers, 65, 0) \
  A(cudaDevAttrMaxSurfaceCubemapWidth, 66, 0) \
  A(cudaDevAttrMaxSurfaceCubemapLayeredWidth, 67, 0) \
  A(cudaDevAttrMaxSurfaceCubemapLayeredLayers, 68, 0) \
  A(cudaDevAttrMaxTexture1DLinearWidth, 69, 0) \
  A(cudaDevAttrMaxTexture2DLinearWidth, 70, 0) \
  A(cudaDevAttrMaxTexture2DLinearHeight, 71, 0) \
  A(cudaDevAttrMaxTexture2DLinearPitch, 72, 0) \
  A(cudaDevAttrMaxTexture2DMipmappedWidth, 73, 0) \
  A(cudaDevAttrMaxTexture2DMipmappedHeight, 74, 0) \
  A(cudaDevAttrComputeCapabilityMajor, 75, 9) \
  A(cudaDevAttrComputeCapabilityMinor, 76, 0) \
  A(cudaDevAttrMaxTexture1DMipmappedWidth, 77, 0) \
  A(cudaDevAttrStreamPrioritiesSupported, 78, 1) \
  A(cudaDevAttrGlobalL1CacheSupported, 79, 1) \
  A(cudaDevAttrLocalL1CacheSupported, 80, 1) \
  A(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81, 233472) \
  A(cudaDevAttrMaxRegistersPerMultiprocessor, 82, 65536) \
  A(cudaDevAttrManagedMemory, 83, 1) \
  A(cudaDevAttrIsMultiGpuBoard, 84, 0) \
  A(cudaDevAttrMultiGpuBoardGroupID, 85, 0) \
  A(cudaDevAttrHostNativeAtomicSupported, 86, 1) \
  A(cudaDevAttrSingleToDoublePrecisionPerfRatio, 87, 2) \
  A(cudaDevAttrPageableMemoryAccess, 88, 0) \
  A(cudaDevAttrConcurrentManagedAccess, 89, 1) \
  A(cudaDevAttrComputePreemptionSupported, 90, 1) \
  A(cudaDevAttrCanUseHostPointerForRegisteredMem, 91, 1) \
  A(cudaDevAttrCooperativeLaunch, 95, 1) \
  A(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97, 232448) \
  A(cudaDevAttrCanFlushRemoteWrites, 98, 1) \
  A(cudaDevAttrHostRegisterSupported, 99, 1) \
  A(cudaDevAttrPageableMemoryAccessUsesHostPageTables, 100, 0) \
  A(cudaDevAttrDirectManagedMemAccessFromHost, 101, 1) \
  A(cudaDevAttrMaxBlocksPerMultiprocessor, 106, 32) \
  A(cudaDevAttrMaxPersistingL2CacheSize, 108, 0) \
  A(cudaDevAttrMaxAccessPolicyWindowSize, 109, 0) \
  A(cudaDevAttrReservedSharedMemoryPerBlock, 111, 1024) \
  A(cudaDevAttrSparseCudaArraySupported, 112, 0) \
  A(cudaDevAttrHostRegisterReadOnlySupported, 113, 1) \
  A(cudaDevAttrTimelineSemaphoreInteropSupported, 114, 0) \
  A(cudaDevAttrMemoryPoolsSupported, 115, 1) \
  A(cudaDevAttrGPUDirectRDMASupported, 116, 0) \
  A(cudaDevAttrGPUDirectRDMAFlushWritesOptions, 117, 0) \
  A(cudaDevAttrGPUDirectRDMAWritesOrdering, 118, 0) \
  A(cudaDevAttrMemoryPoolSupportedHandleTypes, 119, 0) \
  A(cudaDevAttrClusterLaunch, 120, 0) \
  A(cudaDevAttrDeferredMappingCudaArraySupported, 121, 0) \
  A(cudaDevAttrIpcEventSupport, 125, 0) \
  A(cudaDevAttrMemSyncDomainCount, 126, 0) \
  A(cudaDevAttrNumaConfig, 130, 0) \
  A(cudaDevAttrNumaId, 131, 0) \
  A(cudaDevAttrMpsEnabled, 133, 0) \
  A(cudaDevAttrHostNumaId, 134, 0) \
  A(cudaDevAttrD3D12CigSupported, 135, 0) \
  A(cudaDevAttrVulkanCigSupported, 138, 0) \
  A(cudaDevAttrGpuPciDeviceId, 139, 0) \
  A(cudaDevAttrGpuPciSubsystemId, 140, 0) \
  A(cudaDevAttrHostNumaMemoryPoolsSupported, 142, 0) \
  A(cudaDevAttrHostNumaMultinodeIpcSupported, 143, 0) \
  A(cudaDevAttrHostMemoryPoolsSupported, 144, 0) \
  A(cudaDevAttrOnlyPartialHostNativeAtomicSupported, 147, 0)
// clang-format on

enum cudaDeviceAttr {
#define TREADLE_DEVICE_ATTRIBUTE(name, number, value) name = number,
  TREADLE_DEVICE_ATTRIBUTES(TREADLE_DEVICE_ATTRIBUTE)
#undef TREADLE_DEVICE_ATTRIBUTE
      cudaDevAttrMax
};
