/** In about 15 % of all messages: in 5 of the 32 subjects. */
export const COMMON_WORD = 'pedido'
/** In one message of 10,000. */
export const RARE_WORD = 'ornitorrinco'
/** In no message, but built from letters that often occur together. */
export const ABSENT_WORD = 'pedregulho'
/** Too short for the index. */
export const SHORT_WORD = 'oi'
/** Each of them is in many messages. */
export const THREE_WORDS = 'boleto, entrega, endereço'

export const RARE_TEXT = `Vocês vendem também um ${RARE_WORD} de pelúcia?`

/** A message has an opening, a subject and an end, one of 32 each, so that five bits of a hash choose one. */
export const OPENINGS = [
  'Oi, tudo bem?',
  'Olá, bom dia!',
  'Boa tarde!',
  'Boa noite, desculpe o horário.',
  'Certo, obrigada.',
  'Perfeito!',
  'Entendi.',
  'Não entendi muito bem.',
  'Só um momento, por favor.',
  'Claro, com prazer!',
  'Infelizmente não.',
  'Sim, já está pronto.',
  'Acho que houve um engano.',
  'Pode deixar comigo.',
  'Que ótima notícia!',
  'Estou no trânsito agora.',
  'Como combinamos ontem:',
  'Minha irmã me indicou a loja.',
  'Vi no anúncio de vocês.',
  'Recebi a mensagem.',
  'Muito obrigado pela atenção.',
  'Ainda estou aguardando.',
  'Conforme a sua solicitação,',
  'Aqui é da loja do centro.',
  'Falei com o gerente.',
  'É a terceira vez que escrevo.',
  'Um minutinho só.',
  'Agradeço a paciência.',
  'Consultei o sistema.',
  'Ah, esqueci de dizer:',
  'Segue a informação.',
  'Para confirmar:',
] as const

export const SUBJECTS = [
  'O pedido já saiu para o cliente',
  'Gostaria de saber do meu pedido',
  'O seu pedido foi confirmado',
  'Preciso cancelar o pedido de ontem',
  'O pedido chegou incompleto',
  'O boleto vence amanhã',
  'Não consegui gerar o boleto',
  'A entrega está prevista para quinta',
  'A transportadora remarcou a entrega',
  'Qual é o endereço da loja?',
  'O endereço está sem o número',
  'Vocês abrem no sábado?',
  'A camiseta azul tem no tamanho médio?',
  'O pagamento caiu na conta',
  'Aceitam cartão de crédito em três vezes?',
  'A nota fiscal foi para o e-mail',
  'O código não funcionou',
  'Quero trocar o sapato por outro número',
  'O estoque dessa cor acabou',
  'A promoção vale até domingo',
  'O cupom de desconto expirou',
  'Tem frete grátis para o interior?',
  'A geladeira veio com um risco na porta',
  'O técnico passa entre as duas e as cinco',
  'Posso retirar pessoalmente?',
  'O aparelho está na assistência',
  'O orçamento ficou em duzentos reais',
  'Mandei a foto do comprovante',
  'O manual está em inglês',
  'A garantia é de doze meses',
  'Fiz a transferência hoje cedo',
  'A reunião mudou para as dez',
] as const

export const ENDS = [
  'e fico no aguardo.',
  'Abraços!',
  'Obrigada!',
  'Pode verificar para mim?',
  'Qualquer dúvida é só chamar.',
  'Até amanhã!',
  'Assim que souber de algo eu aviso.',
  'Tenha um ótimo dia.',
  'Isso é possível?',
  'Desde já agradeço.',
  'Está tudo certo então?',
  'Preciso disso com urgência.',
  'Sem pressa.',
  'Meu marido vai buscar.',
  'Já faz mais de uma semana.',
  'Vou falar com o pessoal da expedição.',
  'O número segue abaixo.',
  'Beijo!',
  'Combinado?',
  'Só falta a confirmação.',
  'Podemos ajudar em mais alguma coisa?',
  'Estarei em casa à tarde.',
  'Fica bom assim?',
  'Não precisa responder hoje.',
  'Peço desculpas pelo transtorno.',
  'Deixe com o porteiro, por gentileza.',
  'Consegue me ligar?',
  'Avaliem o nosso atendimento!',
  'Aproveite!',
  'Também anotei a sua observação.',
  'Espero que dê certo.',
  'Vamos resolver.',
] as const

/** In about one of 11 names: three of the 32 first names. */
export const COMMON_NAME = 'maria'
/** In one of 10,000 names. */
export const RARE_NAME = 'Zuleica'
export const ABSENT_NAME = 'Wolfgang'

/** A name is a first name and two surnames. */
export const FIRST_NAMES = [
  'Maria',
  'Maria Clara',
  'Ana Maria',
  'João',
  'José',
  'Antônio',
  'Francisco',
  'Carlos',
  'Paulo',
  'Pedro',
  'Lucas',
  'Luís',
  'Marcos',
  'Rafael',
  'Daniel',
  'Márcia',
  'Juliana',
  'Fernanda',
  'Patrícia',
  'Aline',
  'Sandra',
  'Letícia',
  'Beatriz',
  'Vitória',
  'Amanda',
  'Jéssica',
  'Bruna',
  'Eduardo',
  'Felipe',
  'Thiago',
  'Vinícius',
  'Sérgio',
] as const

export const SURNAMES = [
  'Silva',
  'Santos',
  'Oliveira',
  'Souza',
  'Rodrigues',
  'Ferreira',
  'Alves',
  'Pereira',
  'Lima',
  'Gomes',
  'Costa',
  'Ribeiro',
  'Martins',
  'Carvalho',
  'Almeida',
  'Lopes',
  'Soares',
  'Fernandes',
  'Vieira',
  'Barbosa',
  'Rocha',
  'Dias',
  'Nascimento',
  'Andrade',
  'Moreira',
  'Nunes',
  'Marques',
  'Machado',
  'Mendes',
  'Conceição',
  'Araújo',
  'Magalhães',
] as const

/** The accented letters in these texts, and their normalized forms. */
export const ACCENTED = 'áàâãçéêíóôõú'
export const UNACCENTED = 'aaaaceeiooou'
