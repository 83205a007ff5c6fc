import type { session as english } from '../en/session.js'
import type { SameShape } from '../same-shape.js'

export const session: SameShape<typeof english> = {
  title: 'Entrar',
  welcome: 'O painel da sua equipe',
  organization: 'Organização',
  organizationHint: 'O nome curto, por exemplo demo',
  email: 'E-mail',
  password: 'Senha',
  signIn: 'Entrar',
  forgot: 'Não tem senha ou esqueceu? Peça um link de acesso a um proprietário da organização.',
  link: {
    title: 'Entrar com um link',
    hint: 'Este link funciona uma única vez.',
    go: 'Entrar',
    failed: 'Este link não funciona',
    refused: 'Ele está incompleto, já foi usado ou tem mais de um dia. Peça outro a um proprietário da equipe.',
    other: 'Entrar com senha',
  },
  change: {
    title: 'Senha',
    choose: 'Escolha uma senha',
    chooseHint: 'Com uma senha, você entra sem link da próxima vez.',
    current: 'Senha atual',
    new: 'Nova senha',
    newHint: 'Pelo menos 8 caracteres',
    repeat: 'Confirme a nova senha',
    differs: 'As senhas não são iguais',
    tooShort: 'Use pelo menos 8 caracteres',
    done: 'Senha alterada. Suas outras sessões foram encerradas.',
    later: 'Depois',
  },
}
