import { contribute } from 'kubenest/sdk';
import { CostQuota } from './cost-quota.ts';

export default contribute(CostQuota);
