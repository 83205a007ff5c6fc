import { expectQuietBeside } from './scenario.js'

expectQuietBeside(['junk', 'large-junk', 'flood'])
