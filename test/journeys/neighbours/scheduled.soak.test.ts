import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['scheduled'])
