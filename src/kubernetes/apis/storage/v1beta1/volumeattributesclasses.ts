import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/storage/v1/volumeattributesclasses';

export default inVersion(v1, 'v1beta1');
