import { deprecated } from '#apiserver/registry/deprecation';
import type { KubeObject } from '#apimachinery/meta/types';
import { inVersion } from '#apiserver/registry/in-version';
import { resourceSliceConversion } from '#kubernetes/apis/resource/conversion';
import { unsupportedSliceField } from '#kubernetes/apis/resource/resource-slice-fields';
import v1 from '#kubernetes/apis/resource/v1/resourceslices';
import { defaultResourceSlice } from './defaults.ts';

export default inVersion<KubeObject>(v1, 'v1beta1', {
  ...deprecated('resource.k8s.io/v1beta1 ResourceSlice', '1.35', '1.38'),
  conversion: resourceSliceConversion,
  defaults: defaultResourceSlice,
  unsupportedField: unsupportedSliceField('v1beta1'),
});
