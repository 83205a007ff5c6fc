/** The service's errors in Portuguese, by error name. The service sends them in English. */
const SENTENCES: Record<string, string> = {
  'Insufficient scope': 'Sua função na equipe não permite isso. Peça a um proprietário da organização.',
  'Sign-in required': 'Sua sessão expirou. Entre de novo.',
  'Sign-in failed': 'Organização, e-mail ou senha não conferem. Confira os três e tente de novo.',
  'Invalid link': 'O link não é mais válido. Peça um novo a um proprietário da organização.',
  'Too many requests': 'Muitas solicitações em pouco tempo. Espere um pouco e tente de novo.',
  'Unsupported media type': 'Este tipo de conteúdo não é aceito.',
  'Payload too large': 'O conteúdo é grande demais.',
  'Invalid message type': 'Este tipo de mensagem não é aceito.',
  'Invalid provider': 'A organização não tem um número da API do WhatsApp. Conecte um nas configurações.',
  'Contact not found': 'O contato não existe mais nesta organização.',
  'Contact already exists': 'Já existe um contato com este número.',
  'Contact blocked': 'O contato está bloqueado. Não é possível enviar mensagens.',
  'Contact not reachable': 'Não é possível escrever a este contato por este canal: é um grupo ou não tem mais número.',
  'Contact opted out': 'O contato não recebe campanhas.',
  'Message not found': 'A mensagem não existe mais nesta conversa.',
  'Template not found': 'O modelo não existe ou ainda não foi aprovado. Atualize os modelos.',
  'Audience not found': 'A lista não existe mais. Escolha o arquivo de novo.',
  'Too many audiences': 'A organização já guarda o máximo de listas. Espere uma expirar, ou exclua uma pela API.',
  'Broadcast not found': 'A campanha não existe mais.',
  'Invalid broadcast state': 'A situação da campanha mudou. Atualize a página.',
  'Webhook not found': 'O webhook não existe mais.',
  'Delivery not found': 'A entrega não existe mais.',
  'Webhook disabled': 'O webhook está desativado. Ative-o primeiro.',
  'Too many webhooks': 'A organização já tem o máximo de webhooks. Remova um primeiro.',
  'Order not found': 'A loja não tem um pedido com este número.',
  'Storefront not connected': 'Nenhuma loja está conectada. Conecte uma nas configurações.',
  'Storefront credentials rejected': 'A loja recusou o token de acesso. Um proprietário precisa definir outro.',
  'Storefront unavailable': 'A loja não respondeu. Tente de novo daqui a pouco.',
  'API key not found': 'A chave não existe mais.',
  'API key not active': 'A chave já foi revogada ou venceu.',
  'Member not found': 'Este membro não faz mais parte da equipe.',
  'Last owner': 'A organização precisa de ao menos um proprietário. Nomeie outro primeiro.',
  'Instance not found': 'A instância não existe mais.',
  'Connection Closed': 'O canal está desconectado. Conecte a instância de novo.',
  'Instance not connected': 'A instância não está conectada.',
  'Instance already exists': 'Já existe uma instância com este nome.',
  'Not supported': 'Este canal não permite isso.',
  'Number not on the network': 'Este número não está no WhatsApp.',
  Forbidden: 'Isso não é permitido.',
  'Legal hold': 'A organização está sob retenção legal: nada pode ser excluído até o operador do serviço liberar.',
  'Already taken': 'Isso já está em uso. Escolha outro.',
  'Upstream credentials rejected': 'O WhatsApp recusou o token de acesso. Um proprietário precisa definir outro.',
  'Upstream unavailable': 'O WhatsApp não respondeu e nada foi enviado. Tente de novo.',
  'Upstream upload failed': 'O WhatsApp não aceitou o arquivo.',
  'Outcome unknown': 'O WhatsApp não confirmou a mensagem. Ela pode ter sido entregue: não envie de novo.',
  'Request in progress': 'A solicitação anterior ainda está em andamento.',
  'Not found': 'Não encontrado. Talvez tenha sido excluído.',
  'Service unavailable': 'O serviço está sobrecarregado ou reiniciando. Tente de novo daqui a pouco.',
  'Internal server error':
    'Algo deu errado no serviço. Tente de novo. Se o erro continuar, avise o operador do serviço.',
}

/**
 * Patterns of the service's English messages about a value, with their Portuguese replacement: what the value must be,
 * or a whole sentence.
 */
const EXPLANATIONS: readonly [RegExp, string][] = [
  [
    /is required: the first row of the file must name such a column.* it has (.+)$/,
    'Falta uma coluna com os números, chamada, por exemplo, Telefone, Celular ou WhatsApp. A primeira linha tem $1',
  ],
  [
    /The row has (\d+) cells, and the header (\d+)/,
    'A linha tem $1 células, e o cabeçalho $2: ponha entre aspas a célula que contém o separador',
  ],
  [/Row (\d+) of the file (?:has a quoted cell|is longer)/, 'A linha $1 do arquivo tem aspas que não terminam'],
  [
    /Line (\d+) of the file has a byte that is not UTF-8/,
    'A linha $1 do arquivo não está em UTF-8, e a maior parte do arquivo está',
  ],
  [/The file is not a text/, 'O arquivo não é um texto: salve a planilha como “CSV UTF-8”'],
  [/\(row \d+ of the file\) names (.+) twice/, 'O cabeçalho tem a coluna $1 duas vezes'],
  [/must have at most (\d+) characters/, 'deve ter no máximo $1 caracteres'],
  [/must have at least (\d+) characters/, 'deve ter pelo menos $1 caracteres'],
  [/must have at most (\d+) items, not (\d+)/, 'aceita no máximo $1 itens, não $2'],
  [/must be a whole number from (-?\d+) to (-?\d+)/, 'deve ser um número inteiro de $1 a $2'],
  [/must be one of (.+)/, 'deve ser um destes: $1'],
  [/is required|must not be empty|cannot be empty/, 'é obrigatório'],
  [/must be an? (?:valid )?e-?mail address/, 'deve ser um endereço de e-mail'],
  [/is not a possible phone number/, 'não é um número de telefone: escreva com o código do país, como +5511999990000'],
  [/is private|private address|private network/, 'aponta para uma rede privada: só endereços públicos são aceitos'],
  [/URL|address with http|valid uri/, 'deve ser um endereço completo, como https://exemplo.com.br'],
]

const GENERAL = 'Um valor não foi aceito. Confira os campos.'

/** Translates an error: by its name, else by what its message says of a value, else with a general sentence. */
export function describeProblem(name: string, message: string): string {
  const sentence = SENTENCES[name]
  if (sentence !== undefined) return sentence
  for (const [pattern, words] of EXPLANATIONS) {
    const found = pattern.exec(message)
    if (!found) continue
    const text = found[0].replace(pattern, words)
    return /^\p{Lu}/u.test(text) ? `${text}.` : `O valor ${text}.`
  }
  return GENERAL
}
