import { contribute } from 'kubenest/sdk';
import { AllowedPullPolicies } from './allowed-pull-policies.ts';
import { AllowedRepositories } from './allowed-repositories.ts';
import { DisallowedTags } from './disallowed-tags.ts';
import { ReplaceImageRegistry } from './replace-image-registry.ts';
import { RequireImageDigest } from './require-image-digest.ts';
import { RequireImagePullSecrets } from './require-image-pull-secrets.ts';

export default contribute(
  AllowedPullPolicies,
  AllowedRepositories,
  DisallowedTags,
  ReplaceImageRegistry,
  RequireImageDigest,
  RequireImagePullSecrets,
);
