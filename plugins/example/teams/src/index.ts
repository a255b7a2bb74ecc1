import { contribute } from 'kubenest/sdk';
import { TeamController } from './team-controller.ts';
import { teamsGroup } from './teams.ts';

export default contribute(teamsGroup, TeamController);
