import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/networking/v1/ipaddresses';

export default inVersion(v1, 'v1beta1');
