import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/resource/v1/deviceclasses';

export default inVersion(v1, 'v1beta1', deprecated('resource.k8s.io/v1beta1 DeviceClass', '1.35', '1.38'));
