import 'reflect-metadata';
import { admissionTable, fakeAuthorizer } from 'kubenest/sdk/testing';
import { ClusterTrustBundleAttest } from './cluster-trust-bundle-attest.ts';
import { object } from './test-objects.ts';

const can = (verb: string, name: string) => ({
  authorizer: fakeAuthorizer((asked) => asked.resource === 'signers' && asked.verb === verb && asked.name === name),
});

const bundle = (signerName: string | undefined, metadata = {}) =>
  object('certificates.k8s.io/v1beta1', 'ClusterTrustBundle', { spec: { signerName, trustBundle: 'pem' } }, metadata);
admissionTable(
  ClusterTrustBundleAttest,
  [
    { name: 'without a signer', object: bundle(undefined) },
    { name: 'of a permitted signer', object: bundle('example.com/mine') },
    { name: 'of another signer', object: bundle('other.com/x'), denied: /not permitted to attest for signerName "other.com\/x"/ },
    { name: 'an update of finalizers only', object: bundle('other.com/x', { finalizers: ['a/b'] }), oldObject: bundle('other.com/x') },
    {
      name: 'an update of other fields',
      object: bundle('other.com/x', { labels: { a: 'b' } }),
      oldObject: bundle('other.com/x'),
      denied: /other.com/,
    },
  ],
  can('attest', 'example.com/mine'),
);
admissionTable(ClusterTrustBundleAttest, [{ name: 'with the feature gate disabled', object: bundle('other.com/x') }], {
  featureGates: { enabled: () => false },
});
