import { contribute } from 'kubenest/sdk';
import { UniqueHosts } from './unique-hosts.ts';

export default contribute(UniqueHosts);
