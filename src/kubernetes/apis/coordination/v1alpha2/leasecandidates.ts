import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1beta1 from '#kubernetes/apis/coordination/v1beta1/leasecandidates';

export default inVersion(v1beta1, 'v1alpha2', deprecated('coordination.k8s.io/v1alpha2 LeaseCandidate', '1.35', '1.38'));
