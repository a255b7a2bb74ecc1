/** Requests whose response differs from kube-apiserver's, with the reason. The test fails if a row has no difference any more. */
export const knownDifferences: readonly { readonly requests: RegExp; readonly reason: string }[] = [
  {
    requests: /managedFields\.0\.fieldsV1=/,
    reason:
      'kube-apiserver does not track the fields of an object whose pod template has managedFields of a wrong type; clients never send them',
  },
  {
    requests: /metadata\.finalizers=\[null\]$/,
    reason: 'the order of the causes: where the validation of a kind checks the finalizers a second time',
  },
  {
    requests: /emplate\.metadata\.ownerReferences=\[null\]$|spec\.metadata\.ownerReferences=\[null\]$/,
    reason: 'the value in the message lacks the empty members of a null reference, which a template must not have at all',
  },
  {
    requests: /nodeAllocatableResourceMappings=/,
    reason: 'kube-apiserver counts a change of a field of a disabled feature in the generation before it drops the field',
  },
  {
    requests: /clientConfig\.caBundle=""$|affinity\.podAffinity=\{\}$|nodeTopology\.matchLabels=\{\}$/,
    reason: 'to Go, an absent value and an empty one differ in the comparison with the stored object; here, they are equal',
  },
  {
    requests: /CSINode strategic spec\.drivers=\[null\]$/,
    reason: 'the text of a 500 prints the stored object as Go prints a map',
  },
];
