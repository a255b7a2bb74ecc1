import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/resource/v1/resourceclaimtemplates';

export default inVersion(v1, 'v1beta2', deprecated('resource.k8s.io/v1beta2 ResourceClaimTemplate', '1.36', '1.39'));
