import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import { unsupportedSliceField } from '#kubernetes/apis/resource/resource-slice-fields';
import v1 from '#kubernetes/apis/resource/v1/resourceslices';

export default inVersion(v1, 'v1beta2', {
  ...deprecated('resource.k8s.io/v1beta2 ResourceSlice', '1.36', '1.39'),
  unsupportedField: unsupportedSliceField('v1beta2'),
});
