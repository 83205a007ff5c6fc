import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['erasures', 'imports'])
