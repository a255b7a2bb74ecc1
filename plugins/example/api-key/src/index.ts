import { contribute } from 'kubenest/sdk';
import { ApiKeys } from './api-keys.ts';
import { ProtectedNamespaces } from './protected-namespaces.ts';

export default contribute(ApiKeys, ProtectedNamespaces);
