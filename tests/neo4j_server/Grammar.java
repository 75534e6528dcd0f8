// Neo4j's own grammar of Cypher: `grammar` prints its states, `read` says what is in statements.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Set;
import java.util.TreeSet;
import org.antlr.v4.runtime.CommonTokenStream;
import org.antlr.v4.runtime.Vocabulary;
import org.antlr.v4.runtime.atn.ATN;
import org.antlr.v4.runtime.atn.ATNState;
import org.antlr.v4.runtime.atn.NotSetTransition;
import org.antlr.v4.runtime.atn.RuleTransition;
import org.antlr.v4.runtime.atn.Transition;
import org.antlr.v4.runtime.atn.WildcardTransition;
import org.antlr.v4.runtime.tree.ParseTree;
import org.antlr.v4.runtime.RuleContext;
import org.neo4j.cypher.internal.parser.v5.Cypher5Parser;
import org.neo4j.cypher.internal.parser.v5.ast.factory.Cypher5AstLexer;

public class Grammar {
    static final Set<String> LISTS = Set.of(
        "listComprehension", "patternComprehension", "reduceExpression", "listItemsPredicate");
    static final Set<String> MATCHING = Set.of(
        "existsExpression", "countExpression", "collectExpression", "patternExpression",
        "patternComprehension", "shortestPathExpression");
    static PrintStream out;

    public static void main(String[] args) throws Exception {
        out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        if (args[0].equals("grammar")) {
            grammar();
        } else {
            read();
        }
    }

    static void grammar() {
        ATN atn = Cypher5Parser._ATN;
        Vocabulary words = Cypher5Parser.VOCABULARY;
        for (int t = 1; t <= words.getMaxTokenType(); t++) {
            print("token", t, words.getSymbolicName(t), words.getLiteralName(t));
        }
        for (int r = 0; r < Cypher5Parser.ruleNames.length; r++) {
            print("rule", r, Cypher5Parser.ruleNames[r], atn.ruleToStartState[r].stateNumber,
                atn.ruleToStopState[r].stateNumber);
        }
        for (ATNState s : atn.states) {
            for (Transition t : s == null ? new Transition[0] : s.getTransitions()) {
                step(s.stateNumber, t);
            }
        }
    }

    static void step(int from, Transition t) {
        if (t instanceof RuleTransition rule) {
            print("step", from, "rule", rule.ruleIndex, rule.followState.stateNumber);
        } else if (t instanceof NotSetTransition || t instanceof WildcardTransition) {
            return; // wrong input, kept for messages
        } else if (t.label() == null) {
            print("step", from, "epsilon", "", t.target.stateNumber);
        } else {
            for (int token : t.label().toList()) {
                print("step", from, "token", token, t.target.stateNumber);
            }
        }
    }

    static void print(Object... parts) {
        StringBuilder line = new StringBuilder();
        for (Object part : parts) {
            line.append(line.length() == 0 ? "" : "\t").append(part);
        }
        out.println(line);
    }

    // One statement in base64 a line; in turn: whether it is Cypher, and what is in it.
    static void read() throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String text = new String(Base64.getDecoder().decode(line), StandardCharsets.UTF_8);
            Set<String> found = new TreeSet<>();
            String kind = "ok";
            try {
                Cypher5Parser parser = new Cypher5Parser(
                    new CommonTokenStream(Cypher5AstLexer.fromString(text, true)));
                parser.removeErrorListeners();
                collect(parser.statements(), found, false);
                kind = parser.getNumberOfSyntaxErrors() == 0 ? "ok" : "wrong";
            } catch (RuntimeException e) {
                kind = "wrong";
            }
            out.println(kind + "\t" + String.join("\t", found));
        }
    }

    static void collect(ParseTree tree, Set<String> found, boolean within) {
        boolean inner = within;
        if (tree instanceof RuleContext context) {
            String rule = Cypher5Parser.ruleNames[context.getRuleIndex()];
            found.add("rule:" + rule);
            if (rule.equals("functionInvocation") || rule.equals("procedureName")) {
                int names = rule.equals("procedureName") ? 0 : 1;
                String name = (names == 0 ? tree : tree.getChild(0)).getText();
                found.add((names == 0 ? "procedure:" : "function:") + name.replaceAll("\\s", " "));
            }
            if (within && (LISTS.contains(rule) || MATCHING.contains(rule))) {
                found.add("within:" + rule);
            }
            inner = within || LISTS.contains(rule);
        }
        for (int i = 0; i < tree.getChildCount(); i++) {
            collect(tree.getChild(i), found, inner);
        }
    }
}
