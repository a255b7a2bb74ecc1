import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/networking/v1/servicecidrs';

export default inVersion(v1, 'v1beta1', deprecated('networking.k8s.io/v1beta1 ServiceCIDR', '1.34', '1.37'));
