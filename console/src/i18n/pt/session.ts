import type { session as english } from '../en/session.js'
import type { SameShape } from '../same-shape.js'

export const session: SameShape<typeof english> = {
  title: 'Entrar',
  welcome: 'A página da sua equipe',
  organization: 'Organização',
  organizationHint: 'O nome curto, por exemplo demo',
  email: 'E-mail',
  password: 'Senha',
  signIn: 'Entrar',
  forgot: 'Sem senha, ou esqueceu? Um proprietário da organização pode criar um link que faz você entrar uma vez.',
  link: {
    title: 'Entrar por um link',
    hint: 'Este link funciona uma única vez.',
    go: 'Entrar',
    failed: 'O link não funciona mais',
    other: 'Entrar com a senha',
  },
  change: {
    title: 'Senha',
    choose: 'Escolha uma senha',
    chooseHint: 'Assim, da próxima vez, você entra sem um link.',
    current: 'Senha atual',
    new: 'Nova senha',
    newHint: 'Pelo menos 8 caracteres',
    repeat: 'Repita a nova senha',
    differs: 'As duas não são iguais',
    tooShort: 'Precisa de pelo menos 8 caracteres',
    done: 'A senha foi definida. Suas outras sessões terminaram.',
    later: 'Depois',
  },
}
