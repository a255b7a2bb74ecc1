/** Scenarios whose outcome differs from the recorded one, with the reason. The test fails when one of them becomes equal. */
export const knownDifferences: Readonly<Record<string, string>> = {
  'endpoints-mirrored': 'endpointslice-mirroring-controller is missing: Endpoints that users write get no EndpointSlice',
  'scheduling-unschedulable-nodes':
    'node-lifecycle-controller is missing: a node whose spec becomes unschedulable does not get the taint node.kubernetes.io/unschedulable',
};
