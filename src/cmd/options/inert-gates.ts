/** Gates of kube-apiserver that behave as at their default here, whatever their value. The server logs a warning for them. */
export const inertGates: ReadonlySet<string> = new Set([
  'DRANodeAllocatableResources',
  'DRAResourcePoolStatus',
  'DRAWorkloadResourceClaims',
  'ExtendWebSocketsToKubelet',
  'KMSv1',
  'KubeletServiceAccountTokenForCredentialProviders',
  'NativeHistograms',
  'PortForwardWebsockets',
  'RestartAllContainersOnContainerExits',
  'StructuredAuthenticationConfigurationEgressSelector',
  'StructuredAuthenticationConfigurationJWKSMetrics',
  'TopologyAwareWorkloadScheduling',
  'TranslateStreamCloseWebsocketRequests',
  'WorkloadWithJob',
]);
