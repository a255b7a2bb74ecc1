import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/admissionregistration/v1/mutatingadmissionpolicybindings';

export default inVersion(v1, 'v1beta1');
