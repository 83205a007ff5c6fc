import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['endpoint-hangs', 'endpoint-fails', 'replay', 'syncs'])
