import { deprecated } from '#apiserver/registry/deprecation';
import { inVersion } from '#apiserver/registry/in-version';
import v1 from '#kubernetes/apis/storage/v1/volumeattributesclasses';

export default inVersion(
  v1,
  'v1beta1',
  deprecated('storage.k8s.io/v1beta1 VolumeAttributesClass', '1.34', '1.37', 'storage.k8s.io/v1 VolumeAttributesClass'),
);
