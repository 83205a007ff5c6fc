// Preloaded by NODE_OPTIONS=--import: the process has a fault that nothing catches when it gets SIGUSR2.
import { setImmediate } from 'node:timers'

process.on('SIGUSR2', () =>
  setImmediate(() => {
    throw new Error('a fault on purpose')
  }),
)
