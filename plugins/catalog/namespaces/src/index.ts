import { contribute } from 'kubenest/sdk';
import { DisallowDefaultNamespace } from './disallow-default-namespace.ts';
import { ProtectedObjects } from './protected-objects.ts';
import { RequiredNamespaceLabels } from './required-namespace-labels.ts';

export default contribute(DisallowDefaultNamespace, ProtectedObjects, RequiredNamespaceLabels);
