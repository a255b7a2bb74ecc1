/** Gates of kube-apiserver that behave as at their default here, whatever their value. The server logs a warning for them. */
export const inertGates: ReadonlySet<string> = new Set([
  'DRAResourcePoolStatus',
  'DRAWorkloadResourceClaims',
  'ExtendWebSocketsToKubelet',
  'KMSv1',
  'NativeHistograms',
  'PortForwardWebsockets',
  'RestartAllContainersOnContainerExits',
  'TopologyAwareWorkloadScheduling',
  'TranslateStreamCloseWebsocketRequests',
  'WorkloadWithJob',
]);
