import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/resource/v1/deviceclasses';

export default inVersion(v1, 'v1beta2');
