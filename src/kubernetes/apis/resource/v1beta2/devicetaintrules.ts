import { inVersion } from '#apiserver/registry/in-version';
import v1alpha3 from '#kubernetes/apis/resource/v1alpha3/devicetaintrules';

export default inVersion(v1alpha3, 'v1beta2');
