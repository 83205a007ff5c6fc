import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['searches', 'large-bodies', 'passwords', 'conversions'])
