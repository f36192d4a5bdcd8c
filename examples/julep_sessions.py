"""Sessions in the manner of Julep, on a memory of one's own. It needs OPENAI_API_KEY.

python examples/julep_sessions.py memory-dir "I use Shram and Magnet as productivity tools"
python examples/julep_sessions.py memory-dir "What productivity tools do I use?"
"""

import sys

from openai import OpenAI

from commonplace import Memory
from commonplace.integrations.julep import Julep


def main(folder: str, said: str) -> None:
    with Memory.open(folder) as memory:
        client = Julep(memory, OpenAI(), model="gpt-4.1-mini")
        session = client.sessions.create(user="alex", agent="helper", situation="Be brief.")
        answer = client.sessions.chat(session.id, messages=[{"role": "user", "content": said}], recall=True, save=True)
    print(answer.choices[0].message.content)


if __name__ == "__main__":
    main(*sys.argv[1:])
