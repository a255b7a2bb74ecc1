import { contribute } from 'kubenest/sdk';
import { AllowedCapabilities } from './allowed-capabilities.ts';
import { AllowedSysctls } from './allowed-sysctls.ts';
import { baseline, restricted } from './controls.ts';
import { RequireReadOnlyRootFilesystem } from './read-only-root-filesystem.ts';

export default contribute(...baseline, ...restricted, AllowedCapabilities, AllowedSysctls, RequireReadOnlyRootFilesystem);
