import { programs } from '../rolldown.config.js'

export default programs('bench', [
  'bench/main',
  'bench/baseline',
  'bench/fetch-loop',
  'bench/webhook-receiver',
  'bench/neighbours/noise-process',
  'scripts/screenshots',
])
