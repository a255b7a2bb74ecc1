import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/resource/v1/resourceclaims';

export default inVersion(v1, 'v1beta2', deprecated('resource.k8s.io/v1beta2 ResourceClaim', '1.36', '1.39'));
