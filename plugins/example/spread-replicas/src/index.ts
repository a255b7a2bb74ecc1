import { contribute } from 'kubenest/sdk';
import { SpreadReplicas } from './spread-replicas.ts';

export default contribute(SpreadReplicas);
