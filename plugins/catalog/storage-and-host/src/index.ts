import { contribute } from 'kubenest/sdk';
import { AllowedHostPaths } from './allowed-host-paths.ts';
import { AllowedHostPorts } from './allowed-host-ports.ts';
import { AllowedStorageClasses } from './allowed-storage-classes.ts';
import { AllowedVolumeTypes } from './allowed-volume-types.ts';

export default contribute(AllowedHostPaths, AllowedHostPorts, AllowedStorageClasses, AllowedVolumeTypes);
